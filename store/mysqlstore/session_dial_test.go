package mysqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// impatient is a server that ends the driver's first statement in as many sessions as it is told.
type impatient struct {
	driver.Connector

	code  uint16
	times int
	dials int
}

func (i *impatient) Connect(context.Context) (driver.Conn, error) {
	if i.dials++; i.dials <= i.times {
		return nil, &mysql.MySQLError{Number: i.code, Message: "it took too long"}
	}
	return nil, nil //nolint:nilnil // nobody uses the session
}

func TestASessionIsOpenedAgainWhenTheServerEndsItsFirstStatement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code         uint16
		times, dials int
		fails        bool
	}{
		{code: codeExecutionTime, times: 3, dials: 4},
		{code: codeStatementTime, times: 3, dials: 4},
		{code: codeExecutionTime, times: 1000, dials: dialTries, fails: true},
		{code: codeDenied, times: 1, dials: 1, fails: true},
	} {
		server := &impatient{code: c.code, times: c.times}
		_, err := (&connector{Connector: server}).dial(t.Context())
		if server.dials != c.dials || (err != nil) != c.fails {
			t.Errorf("error %d, %d times: %d sessions were opened, want %d: %v", c.code, c.times, server.dials, c.dials, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	server := &impatient{code: codeExecutionTime, times: 1000}
	if _, err := (&connector{Connector: server}).dial(ended); server.dials != 1 || !errors.As(err, new(*mysql.MySQLError)) {
		t.Errorf("after its context ended, %d sessions were opened: %v", server.dials, err)
	}
}
