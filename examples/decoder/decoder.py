# SPDX-License-Identifier: Apache-2.0
"""A decoder of a language model with random weights, to be traced: the same layers as a prefill of
whole prompts, as an eager decode of one token at a time, and as that decode under a CUDA graph.

    python3 decoder.py prefill --trace prefill.json.gz     # by torch.profiler
    ridge record -o decode.sqlite -- python3 decoder.py decode

Prints the wall time of a step in milliseconds. Needs torch and a GPU.
"""

import argparse
import contextlib
import time

import torch
import torch.nn.functional as F

DTYPE = torch.bfloat16


def rms_norm(x, weight):
    """Written out as most models still run it in eager mode: five kernels."""
    y = x.float()
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
    return y.to(x.dtype) * weight


def rotate(x, cos, sin):
    """Rotary embedding over the last axis; x is [batch, heads, tokens, head_dim]."""
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


class Layer:
    """Grouped-query attention and a gated MLP, as in the Llama family (the 1B model by default)."""

    def __init__(self, shape, device):
        self.shape = shape
        width, heads, kv_heads, head = shape.width, shape.heads, shape.kv_heads, shape.head_dim

        def weight(rows, columns):
            return torch.randn(rows, columns, device=device, dtype=DTYPE) * columns**-0.5

        self.qkv = weight((heads + 2 * kv_heads) * head, width)
        self.out = weight(width, heads * head)
        self.gate_up = weight(2 * shape.mlp, width)
        self.down = weight(width, shape.mlp)
        self.norm_in = torch.ones(width, device=device, dtype=DTYPE)
        self.norm_mlp = torch.ones(width, device=device, dtype=DTYPE)
        cache = (shape.batch, kv_heads, shape.context, head)
        self.keys = torch.randn(cache, device=device, dtype=DTYPE)
        self.values = torch.randn(cache, device=device, dtype=DTYPE)

    def step(self, x, cos, sin, position, causal):
        shape = self.shape
        batch, tokens, _ = x.shape
        qkv = F.linear(rms_norm(x, self.norm_in), self.qkv)
        qkv = qkv.view(batch, tokens, -1, shape.head_dim).transpose(1, 2)
        q, k, v = qkv.split((shape.heads, shape.kv_heads, shape.kv_heads), dim=1)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        if not causal:
            k, v = self.keys, self.values
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
        x = x + F.linear(y.transpose(1, 2).reshape(batch, tokens, -1), self.out)
        gate, up = F.linear(rms_norm(x, self.norm_mlp), self.gate_up).chunk(2, dim=-1)
        return x + F.linear(F.silu(gate) * up, self.down)


def build(args, device):
    """The function of one step: no argument, the activations as its result."""
    layers = [Layer(args, device) for _ in range(args.layers)]
    tokens = args.context if args.mode == "prefill" else 1
    x = torch.randn(args.batch, tokens, args.width, device=device, dtype=DTYPE)
    position = torch.arange(args.context - tokens, args.context, device=device)
    angle = position[:, None] * 10000.0 ** (
        -torch.arange(args.head_dim // 2, device=device) * 2.0 / args.head_dim
    )
    angle = torch.cat((angle, angle), dim=-1)
    cos, sin = angle.cos().to(DTYPE), angle.sin().to(DTYPE)

    def step():
        y = x
        for layer in layers:
            y = layer.step(y, cos, sin, position, args.mode == "prefill")
        return y

    return step


def under_a_graph(step):
    """The same step, captured once and replayed."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


@contextlib.contextmanager
def named(name):
    """A range for torch.profiler, and for what reads NVTX."""
    torch.cuda.nvtx.range_push(name)
    with torch.profiler.record_function(name):
        yield
    torch.cuda.nvtx.range_pop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", choices=("prefill", "decode", "graph"))
    parser.add_argument("--trace", help="write a trace of torch.profiler here (.json or .json.gz)")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--context", type=int, default=2048, help="tokens in the cache")
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--kv-heads", type=int, default=8)
    parser.add_argument("--head-dim", type=int, default=64)
    parser.add_argument("--mlp", type=int, default=8192)
    args = parser.parse_args()

    torch.manual_seed(1)
    with torch.inference_mode():
        step = build(args, torch.device("cuda"))
        if args.mode == "graph":
            step = under_a_graph(step)
        for _ in range(3):
            step()
        torch.cuda.synchronize()
        profiler = contextlib.nullcontext()
        if args.trace:
            from torch.profiler import ProfilerActivity, profile

            profiler = profile(
                activities=(ProfilerActivity.CPU, ProfilerActivity.CUDA), record_shapes=True
            )
        else:
            torch.cuda.profiler.start()  # ncu --profile-from-start off begins here
        with profiler as trace:
            start = time.perf_counter()
            for index in range(args.steps):
                with named(f"{args.mode} step {index}"):
                    step()
            torch.cuda.synchronize()
            seconds = time.perf_counter() - start
        print(f"{args.mode}: {seconds / args.steps * 1e3:.3f} ms a step")
        if args.trace:
            trace.export_chrome_trace(args.trace)


if __name__ == "__main__":
    main()
