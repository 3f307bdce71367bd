#include "proc/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/xalloc.h"
#include "fileio/io.h"

#define SECTIONS_MAX 8192             /* libraries have about 30 sections */
#define NAMES_MAX (16u * 1024 * 1024) /* bytes; a large C++ library has 2 MB of names */
#define SYMBOLS_MAX (1u << 20)        /* a large C++ library has tens of thousands of symbols */
#define SYMBOLS_AT_ONCE 512
#define SEGMENTS_MAX 64  /* libraries have about 10 program headers */
#define NOTES_MAX 4096   /* bytes; libraries have notes of less than 100 bytes */

struct image {
	int fd;
	uint64_t size;
	bool is_64;
};

/* The fields of a section header that are used, for ELF32 and ELF64. */
struct section {
	uint32_t type, link;
	uint64_t offset, size;
};

struct symbol {
	uint32_t name;
	uint8_t bind;
	bool defined;
};

static int read_at(const struct image *im, uint64_t at, void *data, uint64_t len)
{
	int rc;

	if (at > im->size || len > im->size - at)
		return -EBADMSG;
	rc = io_read_at(im->fd, at, data, len);
	/* -ENODATA: the file was truncated after the open. */
	return rc == -ENODATA ? -EBADMSG : rc;
}

static bool is_native(const uint8_t *ident)
{
	static const uint16_t one = 1;

	return (ident[EI_DATA] == ELFDATA2LSB) == (*(const uint8_t *)&one == 1);
}

/* The table of section headers, or of program headers. */
struct headers {
	uint64_t offset;
	uint16_t entry_size, n;
};

/* Begins to read a file: sets *im, and the offset and size of the two tables of headers. */
static int open_image(struct image *im, int fd, struct headers *sections,
		      struct headers *segments)
{
	union {
		uint8_t ident[EI_NIDENT];
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} head;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*im = (struct image){ .fd = fd, .size = (uint64_t)st.st_size };
	if (read_at(im, 0, head.ident, sizeof(head.ident)) < 0 ||
	    memcmp(head.ident, ELFMAG, SELFMAG) != 0 || !is_native(head.ident))
		return -ENOEXEC;
	im->is_64 = head.ident[EI_CLASS] == ELFCLASS64;
	if (!im->is_64 && head.ident[EI_CLASS] != ELFCLASS32)
		return -ENOEXEC;
	if (read_at(im, 0, &head, im->is_64 ? sizeof(head.wide) : sizeof(head.narrow)) < 0)
		return -EBADMSG;
	if (im->is_64) {
		*sections = (struct headers){ head.wide.e_shoff, head.wide.e_shentsize,
					      head.wide.e_shnum };
		*segments = (struct headers){ head.wide.e_phoff, head.wide.e_phentsize,
					      head.wide.e_phnum };
	} else {
		*sections = (struct headers){ head.narrow.e_shoff, head.narrow.e_shentsize,
					      head.narrow.e_shnum };
		*segments = (struct headers){ head.narrow.e_phoff, head.narrow.e_phentsize,
					      head.narrow.e_phnum };
	}
	return 0;
}

static struct section section_at(const struct image *im, const char *table, size_t i)
{
	Elf64_Shdr wide;
	Elf32_Shdr narrow;

	if (im->is_64) {
		memcpy(&wide, table + i * sizeof(wide), sizeof(wide));
		return (struct section){ wide.sh_type, wide.sh_link, wide.sh_offset, wide.sh_size };
	}
	memcpy(&narrow, table + i * sizeof(narrow), sizeof(narrow));
	return (struct section){ narrow.sh_type, narrow.sh_link, narrow.sh_offset, narrow.sh_size };
}

static struct symbol symbol_at(const struct image *im, const char *table, size_t i)
{
	Elf64_Sym wide;
	Elf32_Sym narrow;

	if (im->is_64) {
		memcpy(&wide, table + i * sizeof(wide), sizeof(wide));
		return (struct symbol){ wide.st_name, ELF64_ST_BIND(wide.st_info),
					wide.st_shndx != SHN_UNDEF };
	}
	memcpy(&narrow, table + i * sizeof(narrow), sizeof(narrow));
	return (struct symbol){ narrow.st_name, ELF32_ST_BIND(narrow.st_info),
				narrow.st_shndx != SHN_UNDEF };
}

/*
 * Finds the table of dynamic symbols and the table of their names.  Returns 1; 0 if there is no
 * such table; or a negative errno.
 */
static int find_tables(const struct image *im, const struct headers *h, struct section *symbols,
		       struct section *names)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch): open_image() has set is_64 */
	size_t entry_size = im->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	_cleanup_free_ char *table = NULL;
	int rc;

	if (h->n == 0)
		return 0;
	if (h->entry_size != entry_size)
		return -EBADMSG;
	if (h->n > SECTIONS_MAX)
		return -EFBIG;
	table = xreallocarray(NULL, h->n, entry_size);
	rc = read_at(im, h->offset, table, h->n * entry_size);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < h->n; i++) {
		*symbols = section_at(im, table, i);
		if (symbols->type != SHT_DYNSYM)
			continue;
		if (symbols->link >= h->n)
			return -EBADMSG;
		*names = section_at(im, table, symbols->link);
		return names->type == SHT_STRTAB ? 1 : -EBADMSG;
	}
	return 0;
}

/* Reads the string table into *text, which always ends with NUL.  The caller frees it. */
static int read_names(const struct image *im, const struct section *names, char **text)
{
	int rc;

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): names were found */
	if (names->size == 0)
		return -EBADMSG;
	if (names->offset > im->size || names->size > im->size - names->offset)
		return -EBADMSG; /* the table cannot be larger than the file: allocate nothing */
	if (names->size > NAMES_MAX)
		return -EFBIG;
	*text = xmalloc(names->size);
	rc = read_at(im, names->offset, *text, names->size);
	(*text)[names->size - 1] = '\0';
	return rc;
}

static bool is_exported(const struct symbol *s, const struct section *names)
{
	return s->defined && s->bind != STB_LOCAL && s->name < names->size;
}

static int visit_symbols(const struct image *im, const struct section *symbols,
			 const struct section *names, const char *text, const char *prefix,
			 elf_visit *visit, void *arg)
{
	size_t entry_size = im->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t left = symbols->size / entry_size, at = symbols->offset;
	char table[SYMBOLS_AT_ONCE * sizeof(Elf64_Sym)];

	if (left > SYMBOLS_MAX)
		return -EFBIG;
	while (left > 0) {
		size_t n = left < SYMBOLS_AT_ONCE ? (size_t)left : SYMBOLS_AT_ONCE;
		int rc = read_at(im, at, table, n * entry_size);

		if (rc < 0)
			return rc;
		for (size_t i = 0; i < n; i++) {
			struct symbol s = symbol_at(im, table, i);

			if (is_exported(&s, names) &&
			    strncmp(text + s.name, prefix, strlen(prefix)) == 0 &&
			    !visit(text + s.name, arg))
				return 0;
		}
		at += n * entry_size;
		left -= n;
	}
	return 0;
}

int elf_exports(int fd, const char *prefix, elf_visit *visit, void *arg)
{
	_cleanup_free_ char *text = NULL;
	struct image im;
	struct section symbols, names;
	struct headers sections, segments;
	int rc = open_image(&im, fd, &sections, &segments);

	if (rc == 0)
		rc = find_tables(&im, &sections, &symbols, &names);
	if (rc <= 0)
		return rc;
	rc = read_names(&im, &names, &text);
	/*
	 * First search the string table for the prefix, because this is fast, and the tables of
	 * most libraries do not contain the prefix.
	 */
	if (rc < 0 || !memmem(text, names.size, prefix, strlen(prefix)))
		return rc;
	return visit_symbols(&im, &symbols, &names, text, prefix, visit, arg);
}

/* Sets *at and *size to the notes of program header `i`.  Returns 0, or 1 if it has no notes. */
static int notes_at(const struct image *im, const char *table, size_t i, uint64_t *at,
		    uint64_t *size)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (im->is_64) {
		memcpy(&wide, table + i * sizeof(wide), sizeof(wide));
		*at = wide.p_offset;
		*size = wide.p_filesz;
		return wide.p_type != PT_NOTE;
	}
	memcpy(&narrow, table + i * sizeof(narrow), sizeof(narrow));
	*at = narrow.p_offset;
	*size = narrow.p_filesz;
	return narrow.p_type != PT_NOTE;
}

static uint64_t padded(uint32_t len)
{
	return ((uint64_t)len + 3) & ~UINT64_C(3);
}

/*
 * Finds the build id in notes.  Returns its length; or 0.  The parts of a note are padded to 4
 * bytes, also in ELF64; notes that are padded to 8 bytes, such as NT_GNU_PROPERTY_TYPE_0, have
 * segments of their own.
 */
static int find_build_id(const char *notes, uint64_t len, uint8_t *id)
{
	Elf32_Nhdr note; /* Elf64_Nhdr has the same fields */

	while (len >= sizeof(note)) {
		uint64_t name_len, desc_len;

		memcpy(&note, notes, sizeof(note));
		name_len = padded(note.n_namesz);
		desc_len = padded(note.n_descsz);
		notes += sizeof(note);
		len -= sizeof(note);
		if (name_len > len || desc_len > len - name_len)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(notes, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
		    note.n_descsz <= ELF_BUILD_ID_MAX) {
			memcpy(id, notes + name_len, note.n_descsz);
			return (int)note.n_descsz;
		}
		notes += name_len + desc_len;
		len -= name_len + desc_len;
	}
	return 0;
}

int elf_build_id(int fd, uint8_t id[static ELF_BUILD_ID_MAX])
{
	char table[SEGMENTS_MAX * sizeof(Elf64_Phdr)], notes[NOTES_MAX];
	struct headers sections, segments;
	struct image im;
	uint64_t at, size;
	int rc = open_image(&im, fd, &sections, &segments);

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): rc is 0 */
	if (rc < 0 || segments.n == 0)
		return rc;
	if (segments.entry_size != (im.is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return -EBADMSG;
	if (segments.n > SEGMENTS_MAX)
		return -EFBIG;
	rc = read_at(&im, segments.offset, table, (uint64_t)segments.n * segments.entry_size);
	for (size_t i = 0; rc == 0 && i < segments.n; i++) {
		if (notes_at(&im, table, i, &at, &size) != 0 || size > sizeof(notes))
			continue;
		rc = read_at(&im, at, notes, size);
		if (rc == 0)
			rc = find_build_id(notes, size, id);
	}
	return rc;
}
