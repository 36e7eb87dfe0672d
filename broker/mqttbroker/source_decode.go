package mqttbroker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
)

// frame is a packet as it came. It is decoded where it is needed, so that one that cannot be
// decoded ends nothing.
type frame struct {
	head byte // type and flags
	body []byte
}

func (f frame) kind() byte      { return f.head >> 4 }
func (f frame) qos() byte       { return f.head >> 1 & 3 }
func (f frame) duplicate() bool { return f.head&(1<<3) != 0 }
func (f frame) retained() bool  { return f.head&1 != 0 }

var errFrame = errors.New("it is no packet of MQTT 5")

// readFrame reads a packet.
func readFrame(in *bufio.Reader) (frame, error) {
	head, err := in.ReadByte()
	if err != nil {
		return frame{}, err
	}
	size := 0
	for shift := 0; ; shift += 7 {
		digit, err := in.ReadByte()
		if err != nil {
			return frame{}, err
		}
		size |= int(digit&127) << shift
		if digit < 128 {
			break
		}
		if shift == 21 {
			return frame{}, errFrame
		}
	}
	var body bytes.Buffer // which grows with what comes, not with what is announced
	if _, err := io.CopyN(&body, in, int64(size)); err != nil {
		return frame{}, err
	}
	return frame{head, slices.Clip(body.Bytes())}, nil
}

// publishID is the packet identifier of a PUBLISH, zero with QoS 0. It is found although the rest
// cannot be decoded.
func (f frame) publishID() (uint16, error) {
	if f.qos() == 0 {
		return 0, nil
	}
	if len(f.body) < 2 {
		return 0, errFrame
	}
	at := 2 + int(binary.BigEndian.Uint16(f.body))
	if f.qos() == 3 || len(f.body) < at+2 || binary.BigEndian.Uint16(f.body[at:]) == 0 {
		return 0, errFrame
	}
	return binary.BigEndian.Uint16(f.body[at:]), nil
}

// packetID is the packet identifier of a packet that begins with it.
func (f frame) packetID() (uint16, error) {
	if len(f.body) < 2 {
		return 0, errFrame
	}
	return binary.BigEndian.Uint16(f.body), nil
}

// message is what a caller gets, but for its receipt.
func (s *Source) message(a *arrival) source.Message {
	p := packets.Publish{QoS: a.qos, Properties: &packets.Properties{}}
	err := p.Unpack(bytes.NewBuffer(a.frame.body))
	m := source.Message{
		Topic: p.Topic, Headers: propertyHeaders(&p, a.frame.retained()), ContentType: p.Properties.ContentType,
		Payload: p.Payload, Partition: s.partition(),
	}
	if text, ok := m.Headers.Get(broker.HeaderTime); ok {
		m.Time, _ = time.Parse(broker.TimeFormat, text) // or it has none
	}
	if !s.shared() {
		m.Deliveries = a.before + 1
	}
	if err != nil || p.Topic == "" || p.Properties.TopicAlias != nil {
		m.Err = fmt.Errorf("mqttbroker: the packet does not say its topic, or has properties that MQTT 5 does not know: %w", source.ErrUndecodable)
	}
	return m
}

// Names of headers for properties that source.Message has no field for.
const (
	headerResponseTopic   = "response-topic"
	headerCorrelationData = "correlation-data"
	headerRetain          = "retain"
)

// propertyHeaders are the user properties in their sequence. Other properties are behind them,
// unless there is such a header.
func propertyHeaders(p *packets.Publish, retained bool) source.Headers {
	all := make(source.Headers, 0, len(p.Properties.User)+1)
	for _, u := range p.Properties.User {
		all = append(all, source.Header{Name: u.Key, Value: u.Value})
	}
	add := func(name, value string) {
		there := slices.ContainsFunc(all, func(h source.Header) bool { return h.Name == name })
		if value != "" && !there {
			all = append(all, source.Header{Name: name, Value: value})
		}
	}
	add(headerResponseTopic, p.Properties.ResponseTopic)
	add(headerCorrelationData, string(p.Properties.CorrelationData))
	if retained {
		add(headerRetain, "true")
	}
	return all
}
