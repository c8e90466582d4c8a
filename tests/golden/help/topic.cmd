ridge help ridge
