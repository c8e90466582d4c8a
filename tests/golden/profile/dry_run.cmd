ridge profile --dry-run --ncu ../data/fake_ncu.sh -k 'rms.*norm' --nvtx step -c 1 --launch-skip 10 -o r.ncu-rep -- python3 'a b.py' --flag
