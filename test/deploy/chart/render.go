// Renders the chart by Go's own templates and sprig: the files on the command line, the data on standard input. It prints
// what each file becomes, as JSON.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

func main() {
	var data map[string]interface{}
	check(json.NewDecoder(os.Stdin).Decode(&data))
	all := template.New("chart").Option("missingkey=zero")
	funcs := sprig.TxtFuncMap()
	funcs["toYaml"] = func(value interface{}) string { return strings.TrimPrefix(yamlOf(value, ""), "\n") }
	funcs["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all.Funcs(funcs)
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		check(err)
		template.Must(all.New(filepath.Base(file)).Parse(string(text)))
	}
	written := map[string]string{}
	for _, file := range os.Args[1:] {
		var text bytes.Buffer
		check(all.ExecuteTemplate(&text, filepath.Base(file), data))
		if strings.TrimSpace(text.String()) != "" {
			written[filepath.Base(file)] = text.String()
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(written))
}

// In lines of their own, so that the text can stand within another map or list.
func yamlOf(value interface{}, indent string) string {
	text := ""
	switch each := value.(type) {
	case map[string]interface{}:
		names := make([]string, 0, len(each))
		for name := range each {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			text += "\n" + indent + scalar(name) + ":" + yamlOf(each[name], indent+"  ")
		}
	case []interface{}:
		for _, item := range each {
			text += "\n" + indent + "-" + yamlOf(item, indent+"  ")
		}
	}
	if text == "" {
		return " " + scalar(value)
	}
	return text
}

func scalar(value interface{}) string {
	text, err := json.Marshal(value)
	check(err)
	return string(text)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
