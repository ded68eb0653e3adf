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

// object is an element of a collection, a JSON object.
type object map[string]any

// collection is a Collection with its objects.
type collection struct {
	Collection
	compiled compiled
	objects  []object // never changed in place
	before   []object // the objects before the last creation or deletion
	made     int
	disks    map[string]*attached // disks, by the id of their objects
}

func (c *collection) idField() string {
	if c.ID == "" {
		return "id"
	}
	return c.ID
}

// id returns the id of an object as text; empty for none.
func (c *collection) id(t object) string {
	if id := t[c.idField()]; id != nil {
		return fmt.Sprint(id)
	}
	return ""
}

func (c *collection) find(id string) int {
	return slices.IndexFunc(c.objects, func(t object) bool { return c.id(t) == id })
}

// list answers with the objects that have the values of a query.
func (c *collection) list(q request, stale bool) answer {
	objects := c.objects
	if stale {
		objects = c.before
	}
	found := []any{}
	for _, t := range objects {
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

// values returns the objects as values of expressions.
func (c *collection) values() []any {
	all := []any{}
	for _, t := range c.objects {
		all = append(all, map[string]any(t))
	}
	return all
}

// fitsQuery reports whether an object has the values of a query in the fields with these names.
// Names without a field, or with an object as its value, are ignored.
func fitsQuery(t object, query url.Values) bool {
	for name := range query {
		value, has := t[name]
		if _, object := value.(map[string]any); has && !object && fmt.Sprint(value) != query.Get(name) {
			return false
		}
	}
	return true
}

// answer answers with one object.
func (c *collection) answer(status int, t object) answer {
	if c.Item != "" {
		return jsonAnswer(status, map[string]any{c.Item: t})
	}
	return jsonAnswer(status, t)
}

// create makes an object, and answers with it.
func (c *collection) create(body object) answer {
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

// make adds an object with the fields of a request and of the declaration, or refuses the object.
func (c *collection) make(body object) (object, *answer) {
	t := maps.Clone(body)
	for _, field := range c.Unique {
		taken := slices.ContainsFunc(c.objects, func(other object) bool {
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

func (c *collection) add(t object) {
	c.before = c.objects
	c.objects = append(slices.Clone(c.objects), t)
}

// ofObject answers a request about the object with an id.
func (c *collection) ofObject(method, id string, t object) answer {
	at := c.find(id)
	switch {
	case method == http.MethodPut && at < 0:
		t[c.idField()] = id
		c.add(t)
		return c.answer(http.StatusCreated, t)
	case at < 0:
		return refusal(http.StatusNotFound, id+" not found")
	case method == http.MethodDelete:
		c.before = c.objects
		c.objects = slices.Delete(slices.Clone(c.objects), at, at+1)
		return answer{status: http.StatusNoContent}
	case method == http.MethodPut:
		c.replace(at, t)
	case method == http.MethodPatch:
		c.patch(at, t)
	case method != http.MethodGet:
		return refusal(http.StatusMethodNotAllowed, method)
	}
	return c.answer(http.StatusOK, c.objects[at])
}

// patch sets fields of an object.
func (c *collection) patch(at int, fields object) {
	t := maps.Clone(c.objects[at])
	maps.Copy(t, fields)
	c.replace(at, t)
}

// replace sets all fields of an object except its id.
func (c *collection) replace(at int, t object) {
	t[c.idField()] = c.objects[at][c.idField()]
	c.objects = slices.Clone(c.objects)
	c.objects[at] = t
}
