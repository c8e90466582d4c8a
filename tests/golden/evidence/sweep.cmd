sh ../golden/with_ledger ledger/campaign.jsonl 'ledger import $DATA/ledger/sweep.jsonl' 'evidence d44d556d 2bbc4ec9' | grep -A3 'rows\|^Geometric'
