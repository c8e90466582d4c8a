ridge occupancy --gpu "NVIDIA A100" -t 32; ridge occupancy --gpu rtx -t 32
