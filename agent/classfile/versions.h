/* Major versions of class files, by the Java release that introduced them. */
#ifndef JTOOL_AGENT_CLASSFILE_VERSIONS_H
#define JTOOL_AGENT_CLASSFILE_VERSIONS_H

enum {
	JAVA_3 = 47,
	JAVA_5 = 49,
	JAVA_6 = 50,
	JAVA_7 = 51,
	JAVA_8 = 52,
	JAVA_9 = 53,
	JAVA_11 = 55,
	JAVA_16 = 60,
	JAVA_17 = 61,
};

#endif
