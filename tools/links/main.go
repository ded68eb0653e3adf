// Links checks that the links of a site in a directory lead to its files and anchors, and that
// no page loads anything from another host.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	link   = regexp.MustCompile(`(href|src)="?([^"\s>]+)`)
	anchor = regexp.MustCompile(`\bid="?([^"\s>]+)`)
)

func main() {
	pages, mistakes := 0, 0
	err := filepath.WalkDir(os.Args[1], func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".html") {
			return err
		}
		pages++
		text, err := os.ReadFile(path)
		for _, to := range link.FindAllStringSubmatch(string(text), -1) {
			if why := check(path, to[1], to[2]); why != "" {
				mistakes++
				fmt.Printf("%s: %s: %s\n", path, to[2], why)
			}
		}
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "links:", err)
		os.Exit(2)
	}
	fmt.Printf("%d pages, %d dead links\n", pages, mistakes)
	if pages == 0 || mistakes > 0 {
		os.Exit(1)
	}
}

// check returns the reason why a link is dead, or "".
func check(page, attribute, to string) string {
	switch {
	case strings.HasPrefix(to, "data:"):
		return ""
	case strings.Contains(to, "://") && attribute == "src":
		return "is loaded from another host"
	case strings.Contains(to, "://"):
		return ""
	}
	path, fragment, _ := strings.Cut(to, "#")
	target := page
	if path != "" {
		target = filepath.Join(filepath.Dir(page), path)
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return "there is no such file"
	}
	if fragment == "" {
		return ""
	}
	for _, id := range anchor.FindAllStringSubmatch(string(text), -1) {
		if id[1] == fragment {
			return ""
		}
	}
	return "there is no such anchor"
}
