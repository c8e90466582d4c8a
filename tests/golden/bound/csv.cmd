ridge bound rms_norm rows=1,64 columns=4096 --gpu h200 --csv
