ridge help >/dev/null; cp timeline/long_names.json "$TMPDIR/inference_of_a_model_with_many_words_in_its_long_name.rank_0.1773709742341309550.pt.trace.json"; ridge timeline "$TMPDIR"/inference*
