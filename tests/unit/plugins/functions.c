/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain functions to be called by a signature: they note what they were given where their first
 * argument points, an array of doubles. */
#include <stdint.h>

void take_none(void);
void take_1i(double *out);
void take_6i(double *out, int8_t a, uint8_t b, int16_t c, int32_t d, int64_t e);
void take_8f(double *out, float a, double b, float c, double d, float e, double f, float g,
             double h);
void take_mixed(float a, double *out, int32_t b, double c, const float *x, float d, uint32_t e,
                void *stream);
int take_status(double *out, int32_t status);
int take_scaled(float *y, const float *x, float factor, int64_t n, void *stream);

static int calls;

void take_none(void)
{
    calls++;
}

void take_1i(double *out)
{
    out[0] = 1;
}

void take_6i(double *out, int8_t a, uint8_t b, int16_t c, int32_t d, int64_t e)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    out[4] = (double)e;
}

void take_8f(double *out, float a, double b, float c, double d, float e, double f, float g,
             double h)
{
    out[0] = (double)a;
    out[1] = b;
    out[2] = (double)c;
    out[3] = d;
    out[4] = (double)e;
    out[5] = f;
    out[6] = (double)g;
    out[7] = h;
}

void take_mixed(float a, double *out, int32_t b, double c, const float *x, float d, uint32_t e,
                void *stream)
{
    out[0] = (double)a;
    out[1] = b;
    out[2] = c;
    out[3] = x != 0 ? (double)x[0] : -1;
    out[4] = (double)d;
    out[5] = e;
    out[6] = stream == 0 ? 0 : 1;
}

int take_status(double *out, int32_t status)
{
    out[0] = status;
    return status;
}

int take_scaled(float *y, const float *x, float factor, int64_t n, void *stream)
{
    (void)stream;
    for (int64_t i = 0; i < n; i++)
        y[i] = factor * x[i];
    return 0;
}
