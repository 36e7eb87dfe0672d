package component

import "github.com/postbag/postbag/cmd/postbag/internal/config"

const (
	// clientMemory is what a client of a source needs that reads nothing ahead.
	clientMemory = 8 << 20
	// aheadMessage is what a message is taken to need that a client has read ahead: settings of
	// these clients bound the number of messages and not their bytes.
	aheadMessage = 64 << 10
	// batchCopies is in how many forms a batch is in memory: as the client's messages, as the
	// source's, as those of the box, and as the database's statement.
	batchCopies = 4
)

// readsAhead is implemented by settings of sources whose client reads more than a batch.
type readsAhead interface {
	// ahead is how many bytes that may be.
	ahead() int64
}

// SourceMemory is how many bytes a source may hold by its settings: its batch, one message
// beyond, and what its client reads ahead.
func SourceMemory(s config.Intake) int64 {
	need := clientMemory + batchCopies*int64(s.BatchBytes) + int64(s.MaxSize)
	if from, does := s.From.Settings.(readsAhead); does {
		need += from.ahead()
	}
	return need
}

// ahead is an answer of the brokers as it came, and unpacked.
func (k *KafkaSource) ahead() int64 { return 4 * int64(max(k.FetchBytes, k.PartitionBytes)) }

func (q *RabbitMQSource) ahead() int64 { return aheadMessage * int64(q.Prefetch) }

// ahead is a read of each stream. A topic has as many streams as shards.
func (d *RedisSource) ahead() int64 {
	return aheadMessage * int64(d.ReadCount) * int64(len(d.Topics)*d.Shards+len(d.Streams))
}

func (m *MQTTSource) ahead() int64 { return aheadMessage * int64(m.MaxUnacked) }

// ahead is the bodies of requests that wait.
func (w *WebhookSource) ahead() int64 { return int64(w.Memory) }
