ridge help kernels
