// Asks a database the queries of some files, in several goroutines at once, again and again, and prints the answers.
//
//	queries DATABASE free|pinned GOROUTINES ROUNDS FILE...
//
// Each goroutine has a connection. Go moves it from thread to thread as it likes, or it is pinned to one. Answers that
// aren't always the same are an error.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	_ "github.com/mattn/go-sqlite3"
)

func answer(db *sql.DB, query string) (string, error) {
	rows, err := db.Query(query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	values := make([]interface{}, len(columns))
	places := make([]interface{}, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return "", err
		}
		for _, value := range values {
			if real, ok := value.(float64); ok {
				value = strconv.FormatFloat(real, 'x', -1, 64)
			}
			fmt.Fprintf(&text, "%T %v|", value, value)
		}
		text.WriteString("\n")
	}
	return text.String(), rows.Err()
}

func one(path string, queries []string, rounds int) (texts []string, err error) {
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for round := 0; round < rounds; round++ {
		for i, query := range queries {
			text, err := answer(db, query)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				texts = append(texts, text)
			} else if texts[i] != text {
				return nil, fmt.Errorf("round %d of query %d:\n%s\nbefore:\n%s", round, i, text, texts[i])
			}
		}
	}
	return texts, nil
}

func all(path string, pinned bool, goroutines, rounds int, files []string) error {
	queries := []string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		queries = append(queries, string(text))
	}
	found := make([][]string, goroutines)
	errors := make([]error, goroutines)
	var group sync.WaitGroup
	for i := range found {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			if pinned {
				runtime.LockOSThread()
			}
			found[i], errors[i] = one(path, queries, rounds)
		}(i)
	}
	group.Wait()
	for i := range found {
		if errors[i] != nil {
			return errors[i]
		}
		for j := range queries {
			if found[i][j] != found[0][j] {
				return fmt.Errorf("goroutine %d, query %d:\n%s\nthe first has:\n%s", i, j, found[i][j], found[0][j])
			}
		}
	}
	for j := range queries {
		fmt.Printf("%s\n%s", files[j], found[0][j])
	}
	return nil
}

func main() {
	err := fmt.Errorf("usage: queries DATABASE free|pinned GOROUTINES ROUNDS FILE...")
	if len(os.Args) > 5 {
		var goroutines, rounds int
		if goroutines, err = strconv.Atoi(os.Args[3]); err == nil {
			if rounds, err = strconv.Atoi(os.Args[4]); err == nil {
				err = all(os.Args[1], os.Args[2] == "pinned", goroutines, rounds, os.Args[5:])
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
