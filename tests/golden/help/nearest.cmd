ridge help kernel
