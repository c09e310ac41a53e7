package dwarf

// Inlined is the plan for the bodies of inlined functions. DIEs that do not lead to them
// are ClassSkip.
var Inlined = newPlan(inlinedClass).add([]attr{
	{at: atSibling, value: VSibling},
	{at: atAbstractOrigin, value: InlOrigin},
	{at: atLocation, value: InlLocation},
	{at: atConstValue, value: InlConst},
	{at: atGNULocviews, value: InlViews},
	{at: atLowPC, value: InlLowPC},
	{at: atEntryPC, value: InlEntryPC},
	{at: atGNUEntryView, value: InlEntryView},
	{at: atRanges, value: InlRanges},
	{at: atRnglistsBase, value: InlRnglistsBase},
	{at: atGNURangesBase, value: InlRangesBase},
},
	row{ClassSkip, 0, bit(VSibling)},
	row{ClassInlined, 0, bit(InlLowPC, InlEntryPC, InlRanges, InlOrigin, InlEntryView)},
	row{ClassParam, 0, bit(InlOrigin, InlLocation, InlConst, InlViews)},
	row{ClassFunc, 0, bit(InlLowPC, InlEntryPC, InlRanges, VSibling)},
	row{ClassUnit, 0, bit(InlLowPC, InlRnglistsBase, InlRangesBase)},
)

// The values of Inlined.
const (
	InlOrigin = iota
	InlLocation
	InlConst
	InlViews
	InlLowPC
	InlEntryPC
	InlEntryView
	InlRanges
	InlRnglistsBase
	InlRangesBase
)

func inlinedClass(t Tag) Class {
	switch t {
	case TagInlinedSubroutine:
		return ClassInlined
	case TagFormalParameter:
		return ClassParam
	case TagSubprogram:
		return ClassFunc
	case TagLexicalBlock:
		return ClassBlock
	case TagCompileUnit, TagPartialUnit, TagSkeletonUnit:
		return ClassUnit
	}
	return ClassSkip
}
