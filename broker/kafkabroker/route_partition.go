package kafkabroker

// partitionOf is the partition of a key among n: what the Java client's default
// partitioner takes (BuiltInPartitioner.partitionForKey).
func partitionOf(key string, n int32) int32 {
	return int32(murmur2(key)&0x7fffffff) % n
}

// murmur2 is A. Appleby's MurmurHash2 with Kafka's seed
// (org.apache.kafka.common.utils.Utils.murmur2).
func murmur2(data string) uint32 {
	const seed, m, r = 0x9747b28c, 0x5bd1e995, 24
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		k *= m
		k ^= k >> r
		k *= m
		h *= m
		h ^= k
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(data[0])
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}
