for op in $(ridge completion bash | sed -n "s/^ *--workload) words='\(.*\)' ;;/\1/p"); do ridge diagnose --workload ${op}1:x raw_page_h200.csv; done
