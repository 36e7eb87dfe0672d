package kafkabroker

// Translate and Murmur2 are for table tests.
var (
	Translate = translateError
	Murmur2   = murmur2
	Partition = partitionOf
)
