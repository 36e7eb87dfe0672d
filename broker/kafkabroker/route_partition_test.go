package kafkabroker_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker/kafkabroker"
)

// The values are those of Kafka's own test of its hash (UtilsTest.testMurmur2).
func TestTheHashIsThatOfTheJavaClient(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536, "a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107,
	} {
		if got := int32(kafkabroker.Murmur2(text)); got != want {
			t.Errorf("%q has %d, want %d", text, got, want)
		}
	}
}

func FuzzPartition(f *testing.F) {
	for _, key := range []string{"", "a", "ab", "abc", "abcd", "größe", "\xff\xfe", strings.Repeat("k", 1024)} {
		f.Add(key, uint8(7))
	}
	partitioner := kgo.StickyKeyPartitioner(nil).ForTopic("")
	f.Fuzz(func(t *testing.T, key string, partitions uint8) {
		n := int32(partitions) + 1
		want := partitioner.Partition(&kgo.Record{Key: []byte(key)}, int(n))
		if got := kafkabroker.Partition(key, n); got != int32(want) {
			t.Errorf("%q of %d goes to %d, the client library has %d", key, n, got, want)
		}
	})
}
