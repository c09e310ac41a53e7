typedef union fu fu_t; typedef struct fs fs_t; typedef fu_t *fup_t; typedef const union fu cfu_t; typedef union fu2 *fu2_t; typedef union fu3 *(*fn3_t)(union fu4 *, union fu5 *); typedef fu_t fuu_t;
struct x { long l; fu_t *p; fs_t *q; fup_t r; cfu_t *s; fu2_t t; fn3_t u; fuu_t *v; union fu *w; union fu6 *y; union fu *const *z; union fu7 *(*f)(void); };
struct x vx;
