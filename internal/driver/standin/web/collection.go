package web

import (
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
	compiled compiled
	things   []thing // never changed in place
	before   []thing // before something was made or deleted last
	made     int
	disks    map[string]*attached // by the id of their things
}

func (c *collection) idField() string {
	if c.ID == "" {
		return "id"
	}
	return c.ID
}

// id is the id of a thing as text; empty for none.
func (c *collection) id(t thing) string {
	if id := t[c.idField()]; id != nil {
		return fmt.Sprint(id)
	}
	return ""
}

func (c *collection) find(id string) int {
	return slices.IndexFunc(c.things, func(t thing) bool { return c.id(t) == id })
}

// list answers with the things that have the values of a query.
func (c *collection) list(q request, stale bool) answer {
	things := c.things
	if stale {
		things = c.before
	}
	found := []any{}
	for _, t := range things {
		if fitsQuery(t, q.query) {
			found = append(found, map[string]any(t))
		}
	}
	switch {
	case c.compiled.listed != nil:
		n := q.names(nil)
		n.objects = found
		content, err := c.compiled.listed.value(n)
		if err != nil {
			return failure(err)
		}
		return jsonAnswer(http.StatusOK, content)
	case c.Items != "":
		return jsonAnswer(http.StatusOK, map[string]any{c.Items: found})
	}
	return jsonAnswer(http.StatusOK, found)
}

// objects are the things as values of expressions.
func (c *collection) objects() []any {
	all := []any{}
	for _, t := range c.things {
		all = append(all, map[string]any(t))
	}
	return all
}

// fitsQuery reports whether an object has the values of a query in the fields with these names.
// Names without a field, or with an object as its value, are ignored.
func fitsQuery(t thing, query url.Values) bool {
	for name := range query {
		value, has := t[name]
		if _, object := value.(map[string]any); has && !object && fmt.Sprint(value) != query.Get(name) {
			return false
		}
	}
	return true
}

// answer answers with one thing.
func (c *collection) answer(status int, t thing) answer {
	if c.Item != "" {
		return jsonAnswer(status, map[string]any{c.Item: t})
	}
	return jsonAnswer(status, t)
}

// create makes a thing, and answers with it.
func (c *collection) create(body thing) answer {
	t, refused := c.make(body)
	if refused != nil {
		return *refused
	}
	if c.compiled.created == nil {
		return c.answer(http.StatusCreated, t)
	}
	content, err := c.compiled.created.value(names{object: t, body: body})
	if err != nil {
		return failure(err)
	}
	return jsonAnswer(http.StatusCreated, content)
}

// make adds a thing with the fields of a request and those of the declaration, or refuses it.
func (c *collection) make(body thing) (thing, *answer) {
	t := maps.Clone(body)
	for _, field := range c.Unique {
		taken := slices.ContainsFunc(c.things, func(other thing) bool {
			return t[field] != nil && fmt.Sprint(other[field]) == fmt.Sprint(t[field])
		})
		if taken {
			a := refusal(http.StatusConflict, fmt.Sprintf("%s %v exists", field, t[field]))
			return nil, &a
		}
	}
	if c.id(t) == "" {
		c.made++
		t[c.idField()] = c.nextID()
	}
	if c.find(c.id(t)) >= 0 {
		a := refusal(http.StatusConflict, c.id(t)+" exists")
		return nil, &a
	}
	fields, err := c.compiled.create.fields(names{object: t, body: body})
	if err != nil {
		a := failure(err)
		return nil, &a
	}
	maps.Copy(t, fields)
	c.add(t)
	return t, nil
}

func (c *collection) nextID() any {
	if c.Numbered {
		return int64(c.made)
	}
	return fmt.Sprintf("%s-%d", strings.TrimSuffix(path.Base(c.Path), "s"), c.made)
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
		t[c.idField()] = id
		c.add(t)
		return c.answer(http.StatusCreated, t)
	case at < 0:
		return refusal(http.StatusNotFound, id+" not found")
	case method == http.MethodDelete:
		c.before = c.things
		c.things = slices.Delete(slices.Clone(c.things), at, at+1)
		return answer{status: http.StatusNoContent}
	case method == http.MethodPut:
		c.replace(at, t)
	case method == http.MethodPatch:
		c.patch(at, t)
	case method != http.MethodGet:
		return refusal(http.StatusMethodNotAllowed, method)
	}
	return c.answer(http.StatusOK, c.things[at])
}

// patch sets fields of a thing.
func (c *collection) patch(at int, fields thing) {
	t := maps.Clone(c.things[at])
	maps.Copy(t, fields)
	c.replace(at, t)
}

// replace sets all fields of a thing except its id.
func (c *collection) replace(at int, t thing) {
	t[c.idField()] = c.things[at][c.idField()]
	c.things = slices.Clone(c.things)
	c.things[at] = t
}
