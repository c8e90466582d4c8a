sh ../golden/with_ledger - 'help >out; head -c 700 $DATA/foreign/nvbench.json >cut.json; ridge ledger import --create cut.json'
