package testserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// debeziumVersion is what scripts/jars debezium downloads.
const debeziumVersion = "3.7.0.Final"

// Debezium is a worker of Kafka Connect with one connector of Debezium for PostgreSQL. It is there to be measured beside.
type Debezium struct {
	home *folder
	proc *process
	port int
}

// StartDebezium starts a worker for this cluster. worker and connector are added to their settings, over the defaults.
func (k *Kafka) StartDebezium(ctx context.Context, worker, connector map[string]string) (*Debezium, error) {
	cache, err := cacheFolder()
	if err != nil {
		return nil, err
	}
	plugins := filepath.Join(cache, "debezium-"+debeziumVersion)
	if _, err := os.Stat(filepath.Join(plugins, "complete")); err != nil {
		return nil, &MissingError{What: "Debezium " + debeziumVersion, Fix: "run scripts/jars debezium"}
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	home, err := newFolder("debezium", false)
	if err != nil {
		return nil, err
	}
	d := &Debezium{home: home, port: port}
	if err := d.start(ctx, k, plugins, worker, connector); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Debezium) start(ctx context.Context, k *Kafka, plugins string, worker, connector map[string]string) error {
	own := map[string]string{
		"bootstrap.servers": strings.Join(k.Brokers(), ","), "plugin.path": plugins, "plugin.discovery": "only_scan",
		"listeners":     fmt.Sprintf("HTTP://127.0.0.1:%d", d.port),
		"key.converter": "org.apache.kafka.connect.storage.StringConverter", "value.converter": "org.apache.kafka.connect.storage.StringConverter",
		"offset.storage.file.filename": filepath.Join(d.home.path, "offsets"), "offset.flush.interval.ms": "1000",
		"connector.client.config.override.policy": "All",
	}
	maps.Copy(own, worker)
	named := map[string]string{"name": "outbox", "connector.class": "io.debezium.connector.postgresql.PostgresConnector", "tasks.max": "1"}
	maps.Copy(named, connector)
	workerFile, connectorFile := filepath.Join(d.home.path, "worker"), filepath.Join(d.home.path, "connector")
	if err := errors.Join(writeProperties(workerFile, own), writeProperties(connectorFile, named)); err != nil {
		return err
	}
	c := command{name: "Debezium", path: k.java, death: os.Kill, log: d.logFile(), args: []string{
		"-Xms256m", "-Xmx1g", "-Dlog4j2.level=WARN", "-cp", k.libs, "org.apache.kafka.connect.cli.ConnectStandalone", workerFile, connectorFile,
	}}
	proc, err := c.start()
	if err != nil {
		return err
	}
	d.proc = proc
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return proc.until(ctx, func() bool { return d.ready(ctx) })
}

// ready looks whether the connector's task runs.
func (d *Debezium) ready(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/connectors/outbox/status", d.port), http.NoBody)
	if err != nil {
		return false
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer func() { _ = a.Body.Close() }()
	text := make([]byte, 4096)
	n, _ := a.Body.Read(text)
	return strings.Contains(string(text[:n]), `"tasks":[{"id":0,"state":"RUNNING"`)
}

func writeProperties(path string, p map[string]string) error {
	return os.WriteFile(path, []byte(propertiesText(p)), 0o600)
}

// LogTail returns the last lines of what the worker said.
func (d *Debezium) LogTail(lines int) string { return fileTail(d.logFile(), lines) }

func (d *Debezium) logFile() string { return filepath.Join(d.home.path, "log") }

// Close ends the worker and removes its files. It may be called twice.
func (d *Debezium) Close() error {
	var err error
	if d.proc != nil && !d.proc.ended() {
		err = d.proc.stop(context.Background(), os.Kill)
	}
	return errors.Join(err, d.home.Close())
}
