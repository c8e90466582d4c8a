ridge gpus sm_120
