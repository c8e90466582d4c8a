sh ../golden/with_ledger ledger/campaign.jsonl 'ledger query "SELECT verdict, count(*) AS n FROM comparison GROUP BY verdict"'
