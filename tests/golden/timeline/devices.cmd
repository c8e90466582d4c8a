ridge timeline timeline/devices.json
