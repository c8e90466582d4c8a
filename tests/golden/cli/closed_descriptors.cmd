ridge check rms_norm:cpu --device cpu --case m=3 --only guards >&- 2>&- <&-; echo $?; ridge check rms_norm:cpu --device cpu --case m=3 --only guards <&- 2>&-
