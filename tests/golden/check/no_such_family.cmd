ridge check nonsense --device cpu
