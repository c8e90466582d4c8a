ridge explain tail_effect imbalance
