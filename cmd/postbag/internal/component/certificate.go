package component

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"sync"
)

// keyPair is a certificate with its key, which is read again when one of the files changes:
// certificates are renewed while the process runs. It is safe for concurrent use.
type keyPair struct {
	certFile, keyFile string
	// onFault hears of files that have changed and cannot be used. The certificate of before
	// stays then.
	onFault func(error)

	mu   sync.Mutex
	read [2]os.FileInfo // of the files when pair was read
	pair *tls.Certificate
}

// newKeyPair reads the files.
func newKeyPair(certFile, keyFile string, onFault func(error)) (*keyPair, error) {
	k := &keyPair{certFile: certFile, keyFile: keyFile, onFault: onFault}
	read := k.look()
	if err := k.load(read); err != nil {
		return nil, err
	}
	return k, nil
}

// server is for tls.Config.GetCertificate.
func (k *keyPair) server(*tls.ClientHelloInfo) (*tls.Certificate, error) { return k.now(), nil }

// client is for tls.Config.GetClientCertificate.
func (k *keyPair) client(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return k.now(), nil }

// now returns the certificate that the files have.
func (k *keyPair) now() *tls.Certificate {
	read := k.look()
	k.mu.Lock()
	defer k.mu.Unlock()
	if same(k.read[0], read[0]) && same(k.read[1], read[1]) {
		return k.pair
	}
	// While the two files are being replaced they do not fit together. They are tried again at
	// the next connection.
	if err := k.load(read); err != nil {
		k.onFault(fmt.Errorf("a renewed certificate is not used, and that of before goes on: %w", err))
	}
	return k.pair
}

// look returns what is known of the files, nil of one that is not there.
func (k *keyPair) look() (read [2]os.FileInfo) {
	for i, name := range []string{k.certFile, k.keyFile} {
		if info, err := os.Stat(name); err == nil {
			read[i] = info
		}
	}
	return read
}

func (k *keyPair) load(read [2]os.FileInfo) error {
	pair, err := tls.LoadX509KeyPair(k.certFile, k.keyFile)
	if err != nil {
		return errors.New("cert_file and key_file cannot be read, or do not fit together; name PEM files of one certificate and its key")
	}
	k.pair, k.read = &pair, read
	return nil
}

// same says whether a file is as it was.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// ServerCertificate reads a certificate with its key, for tls.Config.GetCertificate. It reads them again when they change. OnFault
// hears of files that have changed and cannot be used: the certificate of before stays then.
func ServerCertificate(certFile, keyFile string, onFault func(error)) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	k, err := newKeyPair(certFile, keyFile, onFault)
	if err != nil {
		return nil, err
	}
	return k.server, nil
}
