ridge bound rms_norm --json
