// A node of a dqlite cluster, or a client of one.
//
//	node ID ADDRESS FOLDER    runs a node until its input ends; prints "ready"
//	client ADDRESS...         reads a request a line from its input, and prints an answer a line, both JSON
//
// Node 1 begins a cluster, the others are added to it by a client's request. A client's SQL goes to the leader, whichever
// node that is; the other requests go to the node that they name.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/canonical/go-dqlite"
	"github.com/canonical/go-dqlite/client"
	"github.com/canonical/go-dqlite/driver"
)

const patience = 60 * time.Second

// request says what a client is to do.
type request struct {
	Do      string // exec, query, leader, add, dump
	SQL     string // of exec and query
	Address string // of the node that add adds, that dump asks
	ID      uint64 // of the node that add adds
}

// answer is what came out of a request.
type answer struct {
	Error  string            `json:"error,omitempty"`
	Leader string            `json:"leader,omitempty"`
	Rows   [][]string        `json:"rows,omitempty"`
	Files  map[string]string `json:"files,omitempty"` // base64 by name
}

func node(id uint64, address, folder string) error {
	made, err := dqlite.New(id, address, folder, dqlite.WithBindAddress(address))
	if err != nil {
		return err
	}
	if err := made.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return made.Close()
}

// text has a value with its type: i and an integer, r and the exact number, t or b and base64, n.
func text(value interface{}) string {
	switch v := value.(type) {
	case nil:
		return "n"
	case int64:
		return "i" + strconv.FormatInt(v, 10)
	case float64:
		return "r" + strconv.FormatFloat(v, 'x', -1, 64)
	case string:
		return "t" + base64.StdEncoding.EncodeToString([]byte(v))
	case []byte:
		return "b" + base64.StdEncoding.EncodeToString(v)
	}
	return fmt.Sprintf("?%T", value)
}

func query(ctx context.Context, db *sql.DB, statement string) ([][]string, error) {
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	found := [][]string{}
	for rows.Next() {
		values := make([]interface{}, len(columns))
		places := make([]interface{}, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		texts := make([]string, len(columns))
		for i, value := range values {
			texts[i] = text(value)
		}
		found = append(found, texts)
	}
	return found, rows.Err()
}

func dump(ctx context.Context, address string) (map[string]string, error) {
	one, err := client.New(ctx, address)
	if err != nil {
		return nil, err
	}
	defer one.Close()
	files, err := one.Dump(ctx, "test")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, file := range files {
		found[file.Name] = base64.StdEncoding.EncodeToString(file.Data)
	}
	return found, nil
}

func do(wanted request, db *sql.DB, store client.NodeStore) (found answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	switch wanted.Do {
	case "exec":
		_, err = db.ExecContext(ctx, wanted.SQL)
		return found, err
	case "query":
		found.Rows, err = query(ctx, db, wanted.SQL)
		return found, err
	case "dump":
		found.Files, err = dump(ctx, wanted.Address)
		return found, err
	}
	leader, err := client.FindLeader(ctx, store)
	if err != nil {
		return found, err
	}
	defer leader.Close()
	switch wanted.Do {
	case "leader":
		info, err := leader.Leader(ctx)
		if err == nil {
			found.Leader = info.Address
		}
		return found, err
	case "add":
		return found, leader.Add(ctx, client.NodeInfo{ID: wanted.ID, Address: wanted.Address, Role: client.Voter})
	}
	return found, fmt.Errorf("no such request: %s", wanted.Do)
}

func serve(addresses []string) error {
	store := client.NewInmemNodeStore()
	nodes := []client.NodeInfo{}
	for _, address := range addresses {
		nodes = append(nodes, client.NodeInfo{Address: address})
	}
	if err := store.Set(context.Background(), nodes); err != nil {
		return err
	}
	made, err := driver.New(store)
	if err != nil {
		return err
	}
	sql.Register("dqlite", made)
	db, err := sql.Open("dqlite", "test")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var wanted request
		if err := json.Unmarshal(line, &wanted); err != nil {
			return err
		}
		found, err := do(wanted, db, store)
		if err != nil {
			found.Error = err.Error()
		}
		if err := output.Encode(found); err != nil {
			return err
		}
	}
}

func main() {
	var err error
	switch {
	case len(os.Args) == 5 && os.Args[1] == "node":
		var id uint64
		if id, err = strconv.ParseUint(os.Args[2], 10, 64); err == nil {
			err = node(id, os.Args[3], os.Args[4])
		}
	case len(os.Args) > 2 && os.Args[1] == "client":
		err = serve(os.Args[2:])
	default:
		err = fmt.Errorf("usage: node ID ADDRESS FOLDER | client ADDRESS...")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
