package web

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
)

// recording holds the answers of an HTTP Archive by method and path, in their order.
type recording map[string][]answer

// archive is the part of a HAR file that is read.
type archive struct {
	Log struct {
		Entries []struct {
			Request struct {
				Method string `json:"method"`
				URL    string `json:"url"`
			} `json:"request"`
			Response struct {
				Status  int `json:"status"`
				Content struct {
					MimeType string `json:"mimeType"`
					Text     string `json:"text"`
					Encoding string `json:"encoding"`
				} `json:"content"`
			} `json:"response"`
		} `json:"entries"`
	} `json:"log"`
}

func readRecording(file string) (recording, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the recording of a service: %w", err)
	}
	var a archive
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("read the recording of a service: %s is no HTTP Archive: %w", file, err)
	}
	r := recording{}
	for i, e := range a.Log.Entries {
		at, err := url.Parse(e.Request.URL)
		if err != nil {
			return nil, fmt.Errorf("read the recording of a service: entry %d of %s: %w", i+1, file, err)
		}
		body := []byte(e.Response.Content.Text)
		if e.Response.Content.Encoding == "base64" {
			if body, err = base64.StdEncoding.DecodeString(e.Response.Content.Text); err != nil {
				return nil, fmt.Errorf("read the recording of a service: entry %d of %s: %w", i+1, file, err)
			}
		}
		answered := answer{status: e.Response.Status, body: body}
		if mime := e.Response.Content.MimeType; mime != "" {
			answered.headers = map[string]string{"Content-Type": mime}
		}
		key := e.Request.Method + " " + at.Path
		r[key] = append(r[key], answered)
	}
	return r, nil
}

// answer returns the next answer for a method and a path. The last answer is repeated.
func (r recording) answer(method, path string) answer {
	key := method + " " + path
	answers := r[key]
	if len(answers) == 0 {
		return refusal(http.StatusNotFound, key+" is neither declared nor recorded")
	}
	if len(answers) > 1 {
		r[key] = answers[1:]
	}
	return answers[0]
}
