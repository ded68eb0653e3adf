package openstack

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// view is an object in the form that clients receive.
type view map[string]any

// fits reports whether a value matches a query's filter, if the query has one.
func fits(query url.Values, name, value string) bool {
	return !query.Has(name) || query.Get(name) == "" || query.Get(name) == value
}

// page returns the requested part of a list: at most the limit, after the marker.
func (c *Cloud) page(request *http.Request, name string, all []view) (answer, error) {
	query := request.URL.Query()
	if marker := query.Get("marker"); marker != "" {
		i := 0
		for i < len(all) && all[i]["id"] != marker {
			i++
		}
		if i == len(all) {
			return answer{}, refuse(http.StatusNotFound, "Marker %s could not be found.", marker)
		}
		all = all[i+1:]
	}
	body := map[string]any{name: []view{}}
	limit := len(all)
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return answer{}, refuse(http.StatusBadRequest, "Invalid input received: limit must be an integer or greater than 0")
		}
		limit = min(n, len(all))
	}
	if limit > 0 {
		body[name] = all[:limit]
	}
	if limit > 0 && limit < len(all) {
		query.Set("marker", fmt.Sprint(all[limit-1]["id"]))
		next := c.url(request.URL.Path) + "?" + query.Encode()
		body[name+"_links"] = []any{map[string]any{"rel": "next", "href": next}}
	}
	return answer{status: http.StatusOK, body: body}, nil
}

// atLeast reports whether a request asks for a microversion of a service's API, such as volume 3.42
// or compute 2.60, or for a later microversion. It compares only the number after the point,
// because there is only one major version.
func atLeast(request *http.Request, header, service string, minor int) bool {
	version, found := strings.CutPrefix(request.Header.Get(header), service+" ")
	_, number, dotted := strings.Cut(version, ".")
	asked, err := strconv.Atoi(number)
	return found && dotted && err == nil && asked >= minor
}
