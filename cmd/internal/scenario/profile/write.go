package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Write writes the profile as the file of that name. Paths below the working directory become
// relative to it, so that the repository can be moved.
func (p *Profile) Write(w io.Writer, file string) error {
	at, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("write driver profile: %w", err)
	}
	written := *p
	written.APIVersion, written.Kind = "csisim.dev/v1alpha1", "DriverProfile"
	for _, name := range []*string{&written.Binary.Name, &written.ControllerBinary.Name} {
		*name = relative(p.program(*name), at)
	}
	if p.SecretsFile != "" {
		written.SecretsFile = relative(p.beside(p.SecretsFile), at)
	}
	text, err := Text(written)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err != nil {
		return fmt.Errorf("write driver profile: %w", err)
	}
	return nil
}

// relative returns a path as seen from a directory, if it is in or below the working directory.
func relative(name, from string) string {
	here, err := os.Getwd()
	if err != nil || !strings.Contains(name, "/") {
		return name
	}
	full, err := filepath.Abs(name)
	if err != nil || !strings.HasPrefix(full, strings.TrimSuffix(here, "/")+"/") {
		return name
	}
	way, err := filepath.Rel(from, full)
	if err != nil {
		return name
	}
	if !strings.HasPrefix(way, "../") {
		way = "./" + way
	}
	return way
}

// Text renders a value of the language in YAML, in the order of its fields, without empty fields.
func Text(value any) (string, error) {
	fields, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var entry yaml.Node
	if err := yaml.Unmarshal(fields, &entry); err != nil {
		return "", err
	}
	inBlocks(&entry)
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&entry); err != nil {
		return "", err
	}
	return text.String(), nil
}

// inBlocks formats one-line JSON in YAML block style, without empty fields and needless quotes.
func inBlocks(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		dropDefaults(n)
	}
	n.Style = 0
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	for _, child := range n.Content {
		inBlocks(child)
	}
}

// dropDefaults removes durations of 0, which JSON encoding cannot omit.
func dropDefaults(n *yaml.Node) {
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i+1].Value != "0s" {
			kept = append(kept, n.Content[i], n.Content[i+1])
		}
	}
	n.Content = kept
}
