package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// thing is an element of a collection, a JSON object.
type thing map[string]any

// collection is a Collection with its things.
type collection struct {
	Collection
	things []thing // never changed in place
	before []thing // before something was made or deleted last
	made   int
}

// answer is the answer to a request.
type answer struct {
	status  int
	headers map[string]string
	body    []byte
}

func jsonAnswer(status int, content any) answer {
	body, err := json.Marshal(content)
	if err != nil {
		return refusal(http.StatusInternalServerError, err.Error())
	}
	return answer{status: status, body: append(body, '\n')}
}

func refusal(status int, text string) answer {
	return jsonAnswer(status, map[string]string{"error": text})
}

func (c *collection) id(t thing) string {
	field := c.ID
	if field == "" {
		field = "id"
	}
	id, _ := t[field].(string)
	return id
}

func (c *collection) setID(t thing, id string) {
	if c.ID == "" {
		t["id"] = id
	} else {
		t[c.ID] = id
	}
}

func (c *collection) find(id string) int {
	return slices.IndexFunc(c.things, func(t thing) bool { return c.id(t) == id })
}

// list answers with the things that have the values of a query.
func (c *collection) list(query url.Values, stale bool) answer {
	things := c.things
	if stale {
		things = c.before
	}
	found := []thing{}
	for _, t := range things {
		if fitsQuery(t, query) {
			found = append(found, t)
		}
	}
	if c.Items != "" {
		return jsonAnswer(http.StatusOK, map[string]any{c.Items: found})
	}
	return jsonAnswer(http.StatusOK, found)
}

// fitsQuery reports whether an object has the values of a query in the fields with these names.
// Names without a field are ignored.
func fitsQuery(t thing, query url.Values) bool {
	for name := range query {
		if value, has := t[name]; has && fmt.Sprint(value) != query.Get(name) {
			return false
		}
	}
	return true
}

// create makes a thing.
func (c *collection) create(t thing) answer {
	for _, field := range c.Unique {
		taken := slices.ContainsFunc(c.things, func(other thing) bool {
			return t[field] != nil && fmt.Sprint(other[field]) == fmt.Sprint(t[field])
		})
		if taken {
			return refusal(http.StatusConflict, fmt.Sprintf("%s %v exists", field, t[field]))
		}
	}
	if c.id(t) == "" {
		c.made++
		c.setID(t, fmt.Sprintf("%s-%d", strings.TrimSuffix(path.Base(c.Path), "s"), c.made))
	}
	if c.find(c.id(t)) >= 0 {
		return refusal(http.StatusConflict, c.id(t)+" exists")
	}
	c.add(t)
	return jsonAnswer(http.StatusCreated, t)
}

func (c *collection) add(t thing) {
	c.before = c.things
	c.things = append(slices.Clone(c.things), t)
}

// ofThing answers a request about the thing of an id.
func (c *collection) ofThing(method, id string, t thing) answer {
	at := c.find(id)
	switch {
	case method == http.MethodPut && at < 0:
		c.setID(t, id)
		c.add(t)
		return jsonAnswer(http.StatusCreated, t)
	case at < 0:
		return refusal(http.StatusNotFound, id+" not found")
	case method == http.MethodDelete:
		c.before = c.things
		c.things = slices.Delete(slices.Clone(c.things), at, at+1)
		return answer{status: http.StatusNoContent}
	case method == http.MethodPut:
		c.setID(t, id)
		c.replace(at, t)
	case method == http.MethodPatch:
		patched := maps.Clone(c.things[at])
		maps.Copy(patched, t)
		c.setID(patched, id)
		c.replace(at, patched)
	case method != http.MethodGet:
		return refusal(http.StatusMethodNotAllowed, method)
	}
	return jsonAnswer(http.StatusOK, c.things[at])
}

func (c *collection) replace(at int, t thing) {
	c.things = slices.Clone(c.things)
	c.things[at] = t
}
