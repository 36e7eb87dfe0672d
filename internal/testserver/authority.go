package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files that writeServer writes.
const (
	authorityFile   = "ca.pem"
	certificateFile = "server.pem"
	keyFile         = "server.key"
)

// authority is a private certificate authority that lasts as long as a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificateOf("Postbag's test authority")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{cert: cert, key: key}, err
}

func certificateOf(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

// issue makes a certificate for 127.0.0.1 and localhost, good for servers and clients, and its key, both as PEM.
func (a *authority) issue(name string) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := certificateOf(name)
	template.IPAddresses, template.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &private.PublicKey, a.key)
	if err != nil {
		return nil, nil, err
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), nil
}

// writeServer writes the authority's certificate, a server's and its key to a folder.
func (a *authority) writeServer(dir string) error {
	cert, key, err := a.issue("server")
	if err != nil {
		return err
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	write := func(name string, text []byte) error { return os.WriteFile(filepath.Join(dir, name), text, 0o600) }
	return errors.Join(write(authorityFile, ca), write(certificateFile, cert), write(keyFile, key))
}

// client is what a client of the authority's servers uses; with a certificate of its own where named.
func (a *authority) client(name string) (*tls.Config, error) {
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	config.RootCAs.AddCert(a.cert)
	if name == "" {
		return config, nil
	}
	cert, key, err := a.issue(name)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	config.Certificates = []tls.Certificate{pair}
	return config, err
}

// ClientTLS is what a client of the TLS listener uses: it trusts the server's authority, and shows a certificate of that
// name where one is given. It needs RabbitMQOptions.TLS.
func (r *RabbitMQ) ClientTLS(name string) (*tls.Config, error) {
	if r.tls == nil {
		return nil, errState("RabbitMQ", "make TLS settings for", "it has no TLS listener: start it with RabbitMQOptions.TLS")
	}
	return r.tls.client(name)
}
