CUDA_INJECTION64_PATH=/a/tool.so ridge record -- true
