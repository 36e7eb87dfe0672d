package login

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// What a new hash costs: the second choice of the OWASP's list, 19 MiB.
const (
	hashMemory, hashTime, hashLanes = 19 * 1024, 2, 1
	saltBytes, hashBytes            = 16, 32
)

// The longest password, and the most that a hash of a file may cost.
const (
	longestPassword = 1024
	mostMemory      = 256 * 1024
	mostTime        = 16
	mostThreads     = 16
)

var errHash = errors.New("is no argon2id hash; make one with postbag console user, such as $argon2id$v=19$m=19456,t=2,p=1$SALT$HASH")

// hash is a password's, with what it was made with.
type hash struct {
	memory, time uint32
	threads      uint8
	salt, sum    []byte
}

// Hash makes an argon2id hash of a password in the PHC form. The password has 8 to 1024 bytes.
func Hash(password string) (string, error) {
	if len(password) < 8 || len(password) > longestPassword {
		return "", fmt.Errorf("the password has %d bytes; choose one of 8 to %d", len(password), longestPassword)
	}
	h := hash{memory: hashMemory, time: hashTime, threads: hashLanes, salt: make([]byte, saltBytes)}
	_, _ = rand.Read(h.salt) // it never fails
	h.sum = h.of(password, hashBytes)
	return h.String(), nil
}

func (h *hash) of(password string, length uint32) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, length)
}

// fits takes the same time whether it does or not.
func (h *hash) fits(password string) bool {
	return subtle.ConstantTimeCompare(h.of(password, uint32(len(h.sum))), h.sum) == 1
}

// String is the PHC form.
func (h *hash) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.threads,
		base64.RawStdEncoding.EncodeToString(h.salt), base64.RawStdEncoding.EncodeToString(h.sum))
}

// parseHash reads the PHC form, and refuses what would cost too much.
func parseHash(text string) (*hash, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, errHash
	}
	h := new(hash)
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.threads); n != 3 || err != nil {
		return nil, errHash
	}
	var faults [2]error
	h.salt, faults[0] = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	h.sum, faults[1] = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if errors.Join(faults[:]...) != nil || h.String() != text || len(h.salt) < 8 || len(h.salt) > 64 || len(h.sum) < 16 || len(h.sum) > 64 {
		return nil, errHash
	}
	if h.time < 1 || h.time > mostTime || h.threads < 1 || h.threads > mostThreads || h.memory < 8*uint32(h.threads) || h.memory > mostMemory {
		return nil, fmt.Errorf("costs too much or too little; write m up to %d, t up to %d and p up to %d", mostMemory, mostTime, mostThreads)
	}
	return h, nil
}
