package apiserver_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/api/apiserver"
)

// player sends the requests of a group and keeps the answers, in the form of the recorded answers.
type player struct {
	t          *testing.T
	server     *apiserver.Server
	address    string
	keep       bool // managedFields
	answered   map[string]any
	background sync.WaitGroup
	started    time.Time
}

func (p *player) play(s scripted) map[string]any {
	response, err := http.DefaultTransport.RoundTrip(p.request(s))
	require.NoError(p.t, err, s.ID)
	answer := map[string]any{"status": float64(response.StatusCode), "contentType": response.Header.Get("Content-Type")}
	headers := map[string]any{}
	for _, name := range []string{"Warning", "Retry-After", "Allow", "Location"} {
		values := slices.DeleteFunc(slices.Clone(response.Header.Values(name)), func(text string) bool {
			// The real server has no such warning.
			return strings.Contains(text, "has no effect in csisim")
		})
		if len(values) > 0 {
			headers[name] = anySlice(values)
		}
	}
	if len(headers) > 0 {
		answer["headers"] = headers
	}
	if s.Watch == nil || response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(p.t, err, s.ID)
		p.body(s, answer, body)
		return answer
	}
	read := func() {
		defer response.Body.Close()
		p.stream(s, answer, response.Body)
	}
	if s.Watch.Background {
		p.background.Go(read)
	} else {
		read()
	}
	return answer
}

func anySlice(values []string) (all []any) {
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

func (p *player) request(s scripted) *http.Request {
	var body []byte
	switch {
	case s.Body != nil:
		text, err := s.Body.json()
		require.NoError(p.t, err)
		body = []byte(p.fill(string(text)))
	default:
		body = []byte(padded(p.fill(s.Raw)))
	}
	query := url.Values{}
	for key, value := range s.Query {
		for _, one := range list(value) {
			query.Add(key, p.fill(fmt.Sprint(one)))
		}
	}
	address := p.address + p.fill(s.Path)
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(p.t.Context(), s.Method, address, bytes.NewReader(body))
	require.NoError(p.t, err, s.ID)
	if len(body) == 0 {
		request.Body, request.ContentLength = nil, 0
	}
	request.Header.Set("User-Agent", "")
	request.Header.Set("Authorization", "Bearer "+bearer)
	for name, value := range s.Headers {
		if value == "" {
			request.Header[http.CanonicalHeaderKey(name)] = []string{""}
			continue
		}
		request.Header.Set(name, value)
	}
	return request
}

func list(value any) []any {
	if all, ok := value.([]any); ok {
		return all
	}
	return []any{value}
}

var (
	reference = regexp.MustCompile(`\$\{([^}]+)\}`)
	padding   = regexp.MustCompile(`%PAD:(\d+)%`)
)

// fill replaces references by values of earlier answers.
func (p *player) fill(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		path := strings.Split(strings.Trim(ref, "${}"), ".")
		value := p.answered[path[0]]
		for _, step := range path[1:] {
			switch v := value.(type) {
			case map[string]any:
				value = v[step]
			case []any:
				n, err := strconv.Atoi(step)
				require.NoError(p.t, err)
				if n >= len(v) {
					return ""
				}
				value = v[n]
			default:
				p.t.Errorf("%s: there is no such answer", ref)
				return ""
			}
		}
		return fmt.Sprint(value)
	})
}

func padded(text string) string {
	return padding.ReplaceAllStringFunc(text, func(pad string) string {
		n, _ := strconv.Atoi(padding.FindStringSubmatch(pad)[1])
		return strings.Repeat("x", n)
	})
}

func (p *player) body(s scripted, answer map[string]any, body []byte) {
	var value any
	switch {
	case bytes.HasPrefix(body, []byte("k8s\x00")):
		answer["protobuf"] = p.envelope(body)
		return
	case strings.Contains(fmt.Sprint(answer["contentType"]), "yaml"):
		if yaml.Unmarshal(body, &value) != nil {
			answer["text"] = string(body)
			return
		}
	case json.Unmarshal(body, &value) != nil:
		if len(body) > 0 {
			answer["text"] = string(body)
		}
		return
	}
	p.answered[s.ID] = value
	readToken(answer, value)
	value = p.tidy(value)
	for path, names := range s.Prune {
		value = prune(value, strings.Split(path, "."), names)
	}
	answer["body"] = value
}

// readToken reads the claims of a service account's token.
func readToken(answer map[string]any, body any) {
	object, _ := body.(map[string]any)
	status, _ := object["status"].(map[string]any)
	token, _ := status["token"].(string)
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return
	}
	claims := map[string]any{}
	for _, part := range parts[:2] {
		text, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || json.Unmarshal(text, &claims) != nil {
			return
		}
	}
	delete(claims, "kid")
	issued, _ := claims["iat"].(float64)
	for _, name := range []string{"exp", "nbf"} {
		at, _ := claims[name].(float64)
		claims[name] = fmt.Sprintf("<iat+%.0f>", at-issued)
	}
	claims["iat"] = fmt.Sprintf("%.0f", issued)
	answer["jwt"] = claims
}

func (p *player) envelope(body []byte) map[string]any {
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(body[4:]); err != nil {
		return map[string]any{"magic": true, "error": err.Error()}
	}
	object := "empty"
	if len(unknown.Raw) > 0 {
		object = "not empty"
	}
	return map[string]any{"magic": true, "apiVersion": unknown.APIVersion, "kind": unknown.Kind, "object": object}
}

// tidy removes managedFields from all groups except the groups about managedFields.
func (p *player) tidy(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if metadata, ok := v["metadata"].(map[string]any); ok {
			if !p.keep {
				delete(metadata, "managedFields")
			}
		}
		for key, item := range v {
			v[key] = p.tidy(item)
		}
	case []any:
		for i, item := range v {
			v[i] = p.tidy(item)
		}
	}
	return value
}

// prune keeps the entries with some names of a list, or some keys of a map.
func prune(value any, path, names []string) any {
	if len(path) > 0 {
		object, ok := value.(map[string]any)
		if !ok {
			return value
		}
		if _, there := object[path[0]]; there {
			object[path[0]] = prune(object[path[0]], path[1:], names)
		}
		return value
	}
	switch v := value.(type) {
	case []any:
		return slices.DeleteFunc(v, func(item any) bool { return !slices.Contains(names, nameOf(item)) })
	case map[string]any:
		keys := []string{}
		for key := range v {
			if len(names) == 0 || slices.ContainsFunc(names, func(word string) bool { return strings.Contains(key, word) }) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return anySlice(keys)
	}
	return value
}

func nameOf(item any) string {
	object, _ := item.(map[string]any)
	if name, ok := object["name"].(string); ok {
		return name
	}
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// stream reads the events of a watch until the server ends it, or there are enough.
func (p *player) stream(s scripted, answer map[string]any, body io.Reader) {
	events := []any{}
	defer func() { answer["events"] = events }()
	answer["end"] = "closed by the client"
	in := bufio.NewReader(body)
	protobuf := strings.Contains(fmt.Sprint(answer["contentType"]), "protobuf")
	for s.Watch.Events == 0 || len(events) < s.Watch.Events {
		event, err := p.event(in, protobuf)
		if err != nil {
			answer["end"] = "closed by the server"
			return
		}
		events = append(events, event)
	}
}

func (p *player) event(in *bufio.Reader, protobuf bool) (any, error) {
	if protobuf {
		var length uint32
		if err := binary.Read(in, binary.BigEndian, &length); err != nil {
			return nil, err
		}
		frame := make([]byte, length)
		_, err := io.ReadFull(in, frame)
		return map[string]any{"protobuf": float64(length)}, err
	}
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var event any
	if err := json.Unmarshal(line, &event); err != nil {
		return nil, err
	}
	return p.tidy(event), nil
}
