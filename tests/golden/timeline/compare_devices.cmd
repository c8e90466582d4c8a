ridge timeline timeline/devices.json timeline/devices.json
