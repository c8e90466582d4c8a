ridge bound rms_norm rows=8192 columns=4096 --gpu h200 --measured bound/h200.json
