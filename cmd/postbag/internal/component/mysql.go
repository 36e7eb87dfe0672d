package component

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store/mysqlstore"
)

// leastMySQLConns is the fewest sessions that mysqlstore takes.
const leastMySQLConns = 4

func openMySQL(ctx context.Context, dsn string, o StoreOptions) (*Store, error) {
	dsn, err := driverDSN(dsn)
	if err != nil {
		return nil, err
	}
	if fault := driverFault(dsn); fault != "" {
		return nil, mysqlUnreadable(fault)
	}
	mo := mysqlstore.Options{
		Create: o.Create && !o.Unmigrated, Unmigrated: o.Unmigrated, Connections: max(o.MaxConns, leastMySQLConns),
		Partition: o.Partition, SQLComments: o.Comments, Slots: o.Slots, OnFault: o.OnFault,
	}
	if mo.Create {
		mo.Boxes = append([]string{}, o.Boxes...)
	}
	s, err := mysqlstore.Open(ctx, dsn, mo)
	if err != nil {
		return nil, err
	}
	db, err := poolOf(dsn)
	if err != nil {
		return nil, errors.Join(errors.New("mysql: the DSN cannot be used"), s.Close())
	}
	return &Store{
		Store: s, Inspector: s, Operator: s, Migrator: s, Publish: publisherOf(s), Receive: receiverOf(s), Positions: positionsOf(s),
		Adopt: &adopt.MySQL{DB: db, Store: s},
		Close: func() error { return errors.Join(s.Close(), db.Close()) },
	}, nil
}

// readMySQL opens a replica.
func readMySQL(ctx context.Context, dsn string, o StoreOptions) (*Reader, error) {
	dsn, err := driverDSN(dsn)
	if err != nil {
		return nil, err
	}
	if fault := driverFault(dsn); fault != "" {
		return nil, mysqlUnreadable(fault)
	}
	r, err := mysqlstore.OpenReader(ctx, dsn, mysqlstore.Options{Connections: max(o.MaxConns, leastMySQLConns), SQLComments: o.Comments, OnFault: o.OnFault})
	if err != nil {
		return nil, err
	}
	return &Reader{r, r.Close}, nil
}

// poolOf is a pool whose driver prints nothing. No connection is made before one is
// used.
func poolOf(dsn string) (*sql.DB, error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// mysqlUnreadable is the error of a DSN that has a fault.
func mysqlUnreadable(fault string) error {
	return exit.Usagef("the DSN cannot be read: %s; write it as mysql://user:password@host:3306/database?tls=true, "+
		"or as the driver has it: user:password@tcp(host:3306)/database", fault)
}

// mysqlURLFault says what is wrong with a DSN that is a URL; empty: nothing.
func mysqlURLFault(dsn string) string {
	if fault := urlFault(dsn); fault != "" {
		return fault
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "it is no URL"
	}
	switch database := strings.Trim(u.Path, "/"); {
	case u.Hostname() == "":
		return "it names no host"
	case database == "":
		return "it names no database behind the host"
	case strings.Contains(database, "/"):
		return "there is more than the name of a database behind the host"
	}
	return ""
}

// driverDSN makes of a URL what the driver reads. What is no URL is the driver's form already.
func driverDSN(dsn string) (string, error) {
	if scheme, _, _ := strings.Cut(strings.ToLower(dsn), "://"); scheme != "mysql" && scheme != "mariadb" {
		return dsn, nil
	}
	if fault := mysqlURLFault(dsn); fault != "" {
		return "", mysqlUnreadable(fault)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", mysqlUnreadable("it is no URL")
	}
	c := mysql.NewConfig()
	c.Net, c.DBName = "tcp", strings.Trim(u.Path, "/")
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	c.Addr = net.JoinHostPort(u.Hostname(), port)
	text := c.FormatDSN()
	if u.RawQuery != "" {
		separator := "?"
		if strings.Contains(text[strings.LastIndexByte(text, '/'):], "?") {
			separator = "&"
		}
		text += separator + u.RawQuery
	}
	return text, nil
}
