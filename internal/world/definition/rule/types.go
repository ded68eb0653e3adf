package rule

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// The sizes of values in a request. [apiserver/pkg/cel/limits.go, apis/cel/config.go]
const (
	maxRequest   = 3 << 20
	maxText      = maxRequest - 2 // without its quotes
	maxInstant   = 32             // of a duration, or of a date with time
	dateSize     = 12
	bytesPerRune = 4
)

// declared is the type of a schema's values in rules. [apiserver/pkg/cel/common/schemas.go
// SchemaDeclType]
type declared struct {
	is     *types.Type
	fields map[string]*declared // of an object, by the fields' names in rules
	item   *declared            // of a list or a map
	most   uint64               // how many items or bytes fit into a request
	least  uint64               // bytes of its shortest JSON
}

// declare returns nil for a schema with values that rules cannot see. name identifies the objects
// of one rule.
func declare(s *schema.Structural, root bool, name string) *declared {
	switch {
	case s == nil:
		return nil
	case s.XIntOrString:
		return &declared{is: types.DynType, most: textMost(s), least: 1}
	}
	switch s.Type {
	case "array":
		return declareList(s, name)
	case "object":
		if values := s.AdditionalProperties; values != nil && values.Structural != nil {
			return declareMap(s, values.Structural, name)
		}
		return declareObject(s, root, name)
	case "string":
		return declareText(s)
	case "boolean":
		return &declared{is: types.BoolType, least: 4}
	case "number":
		return &declared{is: types.DoubleType, least: 1}
	case "integer":
		return &declared{is: types.IntType, least: 1}
	}
	return nil
}

func declareList(s *schema.Structural, name string) *declared {
	item := declare(s.Items, s.Items != nil && s.Items.XEmbeddedResource, name+".@items")
	if item == nil {
		return nil
	}
	d := &declared{is: types.NewListType(item.is), item: item, most: (maxRequest - 2) / (item.least + 1), least: 2}
	if v := s.ValueValidation; v != nil && v.MaxItems != nil {
		d.most = positive(*v.MaxItems)
	}
	return d
}

func declareMap(s, values *schema.Structural, name string) *declared {
	item := declare(values, values.XEmbeddedResource, name+".@values")
	if item == nil {
		return nil
	}
	d := &declared{is: types.NewMapType(types.StringType, item.is), item: item, most: (maxRequest - 2) / (item.least + 6), least: 2}
	if v := s.ValueValidation; v != nil && v.MaxProperties != nil {
		d.most = positive(*v.MaxProperties)
	}
	return d
}

func declareObject(s *schema.Structural, root bool, name string) *declared {
	d := &declared{is: types.NewObjectType(name), fields: map[string]*declared{}, least: 2}
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		of := s.Properties[property]
		field := declare(&of, of.XEmbeddedResource, name+"."+property)
		if field == nil {
			continue
		}
		d.fields[escaped(property)] = field
		if v := s.ValueValidation; v != nil && slices.Contains(v.Required, property) && of.Default.Object == nil {
			d.least += uint64(len(property)) + field.least + 4
		}
	}
	if root {
		text := &declared{is: types.StringType, most: maxText, least: 2}
		d.fields["apiVersion"], d.fields["kind"] = text, text
		d.fields["metadata"] = &declared{
			is: types.NewObjectType(name + ".metadata"), least: 2,
			fields: map[string]*declared{"name": text, "generateName": text},
		}
	}
	return d
}

func declareText(s *schema.Structural) *declared {
	format := ""
	if s.ValueValidation != nil {
		format = s.ValueValidation.Format
	}
	switch format {
	case "byte":
		d := &declared{is: types.BytesType, most: maxText, least: 2}
		if most := s.ValueValidation.MaxLength; most != nil {
			d.most = positive(*most)
		}
		return d
	case "duration":
		return &declared{is: types.DurationType, most: maxInstant, least: 3}
	case "date":
		return &declared{is: types.TimestampType, most: dateSize, least: dateSize}
	case "date-time":
		return &declared{is: types.TimestampType, most: maxInstant, least: 21}
	}
	return &declared{is: types.StringType, most: textMost(s), least: 2}
}

// textMost returns the maximum length of a text in bytes.
func textMost(s *schema.Structural) uint64 {
	v := s.ValueValidation
	switch {
	case v == nil:
		return maxText
	case v.MaxLength != nil:
		return positive(*v.MaxLength) * bytesPerRune
	case len(v.Enum) > 0 && !s.XIntOrString:
		longest := 0
		for _, value := range v.Enum {
			text, _ := value.Object.(string)
			longest = max(longest, len(text))
		}
		return uint64(longest)
	}
	return maxText
}

func positive(n int64) uint64 { return uint64(max(n, 0)) }

// provider finds the object types of a rule for CEL.
type provider struct {
	*types.Registry
	objects map[string]*declared
}

// add adds the objects of a type.
func (p *provider) add(d *declared) {
	if d == nil {
		return
	}
	if d.fields != nil {
		p.objects[d.is.TypeName()] = d
	}
	for _, field := range d.fields { // any order: fields are independent
		p.add(field)
	}
	p.add(d.item)
}

// FindStructType implements types.Provider.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if d, ok := p.objects[name]; ok {
		return types.NewTypeTypeWithParam(d.is), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if d, ok := p.objects[name]; ok {
		return slices.Sorted(maps.Keys(d.fields)), true
	}
	return p.Registry.FindStructFieldNames(name)
}

// FindStructFieldType implements types.Provider.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	d, ok := p.objects[name]
	if !ok {
		return p.Registry.FindStructFieldType(name, field)
	}
	of, ok := d.fields[field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{Type: of.is}, true
}
