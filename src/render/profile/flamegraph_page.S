/* .incbin searches the include path. */
	.section .rodata
	.global jtool_flamegraph_html
	.global jtool_flamegraph_css
	.global jtool_flamegraph_js
	.type jtool_flamegraph_html, %object
	.type jtool_flamegraph_css, %object
	.type jtool_flamegraph_js, %object
jtool_flamegraph_html:
	.incbin "render/profile/flamegraph.html"
	.byte 0
	.size jtool_flamegraph_html, . - jtool_flamegraph_html
jtool_flamegraph_css:
	.incbin "render/profile/flamegraph.css"
	.byte 0
	.size jtool_flamegraph_css, . - jtool_flamegraph_css
jtool_flamegraph_js:
	.incbin "render/profile/flamegraph_model.js"
	.incbin "render/profile/flamegraph.js"
	.incbin "render/profile/flamegraph_views.js"
	.byte 0
	.size jtool_flamegraph_js, . - jtool_flamegraph_js
	.section .note.GNU-stack, "", %progbits
#ifdef __CET__
#include <cet.h> /* marks the object: one without the mark would disable CET for the program */
#endif
