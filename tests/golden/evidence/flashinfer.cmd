sh ../golden/with_ledger ledger/campaign.jsonl 'evidence --for flashinfer' | grep '^#'
