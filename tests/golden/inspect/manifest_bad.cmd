ridge inspect --manifest block_summ binary/sample_90.cubin.gz; echo $?; ridge inspect --manifest k binary/tiny.ptx binary/tiny.o.gz; echo $?; ridge inspect --manifest k --mix binary/tiny.ptx
