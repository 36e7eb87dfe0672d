package component

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

// certify writes a certificate with that serial number, and its key.
func certify(t *testing.T, serial int64, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	cert, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	replace(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// replace puts another file in the place of one, as programs do that renew certificates.
func replace(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

func TestAWebhookSourceShowsARenewedCertificateWithoutARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret, cert, key := filepath.Join(dir, "secret"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	replace(t, secret, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"))
	certify(t, 1, cert, key)
	settings := &WebhookSource{Listen: "0", Path: "/", SecretsFile: []string{secret}, CertFile: cert, KeyFile: key}
	faults := make(chan error, 10)
	from, err := OpenSource(t.Context(), config.Intake{Name: "hooks", From: config.Origin{Kind: "webhook", Settings: settings}}, &Store{}, func(err error) { faults <- err })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := from.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	listens, can := from.(interface{ Address() string })
	if !can {
		t.Fatalf("%T does not say where it listens", from)
	}
	shown := func() int64 {
		t.Helper()
		c, err := tls.Dial("tcp", listens.Address(), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if n := shown(); n != 1 {
		t.Errorf("it shows certificate %d, not 1", n)
	}
	certify(t, 2, cert, key)
	if n := shown(); n != 2 {
		t.Errorf("after the renewal it shows certificate %d, not 2", n)
	}
	replace(t, cert, []byte("no certificate"))
	if first, second := shown(), shown(); first != 2 || second != 2 {
		t.Errorf("with a broken file it shows certificates %d and %d, not that of before", first, second)
	}
	if len(faults) != 1 {
		t.Fatalf("%d faults were reported, not one", len(faults))
	}
	if err := <-faults; !strings.Contains(err.Error(), "cert_file and key_file") {
		t.Errorf("the fault is %v", err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if n := shown(); n != 2 {
		t.Errorf("without a key file it shows certificate %d", n)
	}
	certify(t, 3, cert, key)
	if n := shown(); n != 3 {
		t.Errorf("after the files were right again it shows certificate %d, not 3", n)
	}
}

func TestAConnectionShowsARenewedCertificateOfTheClient(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certify(t, 1, cert, key)
	secure, err := (&TLS{CertFile: cert, KeyFile: key}).config()
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 2; n++ {
		certify(t, n, cert, key)
		pair, err := secure.GetClientCertificate(&tls.CertificateRequestInfo{})
		if err != nil {
			t.Fatal(err)
		}
		if got := pair.Leaf.SerialNumber.Int64(); got != n {
			t.Errorf("it shows certificate %d, not %d", got, n)
		}
	}
}
