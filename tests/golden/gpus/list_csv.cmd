ridge gpus --csv rtx
